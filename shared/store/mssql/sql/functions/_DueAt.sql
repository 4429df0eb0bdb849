-- Taskgate._DueAt: since when a task may start: since its enqueue, or its own later instant, or the opening of its wave.
-- In:     @CreatedAt, @DueAt: the task's; @OpenedAt: of its wave, or null
-- Rows:   DueAt; one row
-- Raises: -
-- Locks:  none
-- Plan:   no table
-- Twin:   none: PostgreSQL has greatest(), which leaves a null out
CREATE OR ALTER FUNCTION Taskgate._DueAt (@CreatedAt datetime2(3), @DueAt datetime2(3), @OpenedAt datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT CASE WHEN @OpenedAt > COALESCE(@DueAt, @CreatedAt) THEN @OpenedAt ELSE COALESCE(@DueAt, @CreatedAt) END AS DueAt;
