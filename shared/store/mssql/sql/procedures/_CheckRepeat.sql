-- Taskgate._CheckRepeat: refuses an operation id that another call has used.
-- In:     @OperationId uniqueidentifier; @Operation: the operation that repeats it; @Target: what it changes; @UsedBy: the operation of the
--         first call; @Answer: as that call has kept it
-- Out:    -
-- Raises: 50409 the operation id was used by another operation, or for another target
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_first_answer.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckRepeat
  @OperationId uniqueidentifier, @Operation nvarchar(200), @Target nvarchar(300), @UsedBy nvarchar(200), @Answer nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048);
  IF @UsedBy COLLATE Latin1_General_100_BIN2 <> @Operation
    SET @vMessage = N'operation_id: was used by another operation (' + LOWER(CONVERT(nvarchar(36), @OperationId)) + N')';
  ELSE IF JSON_VALUE(@Answer, N'$.target') COLLATE Latin1_General_100_BIN2 <> @Target -- a build of before has kept none
    SET @vMessage = N'operation_id: was used by a call for another name (' + LOWER(CONVERT(nvarchar(36), @OperationId)) + N')';
  IF @vMessage IS NOT NULL THROW 50409, @vMessage, 1;
END;
