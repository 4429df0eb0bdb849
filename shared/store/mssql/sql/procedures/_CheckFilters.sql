-- Taskgate._CheckFilters: refuses filters of ListTasks that can't be read.
-- In:     @Key, @KeyPrefix, @GroupKey, @CreatedSince, @CreatedBefore, @FinishedSince, @FinishedBefore, @Path, @Value, each or null: as
--         ListTasks has them
-- Out:    -
-- Raises: 50422 a key, prefix or group that can't be one, an instant without its zone, a path that isn't names joined by dots, a path
--         without a value or a value without a path
-- Locks:  none
-- Plan:   no table
-- Twin:   postgres/sql/functions/_check_filters.sql
CREATE OR ALTER PROCEDURE Taskgate._CheckFilters
  @Key nvarchar(max), @KeyPrefix nvarchar(max), @GroupKey nvarchar(max), @CreatedSince nvarchar(max), @CreatedBefore nvarchar(max),
  @FinishedSince nvarchar(max), @FinishedBefore nvarchar(max), @Path nvarchar(max), @Value nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048), @vName nvarchar(400);
  IF @Key IS NOT NULL EXEC Taskgate._CheckText @What = N'key', @Text = @Key;
  IF @KeyPrefix IS NOT NULL EXEC Taskgate._CheckText @What = N'key_prefix', @Text = @KeyPrefix;
  IF @GroupKey IS NOT NULL EXEC Taskgate._CheckText @What = N'group_key', @Text = @GroupKey;
  SELECT TOP (1) @vMessage = x.What + N': expected an ISO-8601 instant with its zone (' + REPLACE(LEFT(x.Given, 100), N'%', N'%%') + N')'
  FROM (VALUES (1, N'created_since', @CreatedSince), (2, N'created_before', @CreatedBefore), (3, N'finished_since', @FinishedSince),
               (4, N'finished_before', @FinishedBefore)) AS x (N, What, Given)
  WHERE x.Given IS NOT NULL AND Taskgate._Instant(x.Given) IS NULL
  ORDER BY x.N;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  -- Each dot is followed by a letter or _, as the first character is, and there is no other sign than these.
  SET @vName = N'.' + LEFT(@Path, 201);
  IF @Path IS NOT NULL AND (DATALENGTH(@Path) > 400 OR DATALENGTH(@Path) = 0
      OR @vName COLLATE Latin1_General_100_BIN2 LIKE N'%[^A-Za-z0-9_.]%'
      OR @vName COLLATE Latin1_General_100_BIN2 LIKE N'%.[^A-Za-z_]%' OR RIGHT(@vName, 1) = N'.')
  BEGIN
    SET @vMessage = N'path: expected names of letters, digits and _ joined by dots, 1..200 characters, such as customer.id ('
      + REPLACE(LEFT(@Path, 220), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF (@Path IS NULL AND @Value IS NOT NULL) OR (@Path IS NOT NULL AND @Value IS NULL)
  BEGIN
    SET @vMessage = N'value: expected it together with path (' + COALESCE(REPLACE(LEFT(@Value, 220), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF DATALENGTH(@Value) > 400
  BEGIN
    SET @vMessage = N'value: expected at most 200 characters (' + REPLACE(LEFT(@Value, 220), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
END;
