-- Taskgate._MakeShared: the shared limits of some names; those that don't exist are made, with a limit of 1.
-- In:     @Names: JSON array of names
-- Out:    @oShared: their ids joined by commas; @oMade: so many of them were made
-- Raises: -
-- Locks:  SharedLimit (the places of missing names, by name; own new rows), SharedTokenDemand (own new rows). Joins the caller's transaction
-- Isolation: two callers with one new name: the second waits for the place, then finds the row. No name ever goes
-- Plan:   unique name; joins are loops in the written order
-- Twin:   postgres/sql/functions/_make_shared.sql
CREATE OR ALTER PROCEDURE Taskgate._MakeShared
  @Names nvarchar(max), @oShared nvarchar(max) OUTPUT, @oMade int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vName nvarchar(200), @vId int;
  DECLARE @vWanted TABLE (Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED);

  SET @oMade = 0;
  INSERT INTO @vWanted (Name)
  SELECT DISTINCT CONVERT(nvarchar(200), j.[value]) COLLATE Latin1_General_100_BIN2 FROM OPENJSON(@Names) AS j;
  SELECT @vName = MIN(w.Name) FROM @vWanted AS w;
  WHILE @vName IS NOT NULL
  BEGIN
    SET @vId = NULL;
    SELECT @vId = s.SharedLimitId FROM Taskgate.SharedLimit AS s WHERE s.Name = @vName;
    IF @vId IS NULL
    BEGIN
      SELECT @vId = s.SharedLimitId
      FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- keeps the place of a missing name
      WHERE s.Name = @vName;
      INSERT INTO Taskgate.SharedLimit (Name)
      SELECT @vName
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.SharedLimit AS s WHERE s.Name = @vName); -- own statement: lock, then look
      IF @@ROWCOUNT > 0
      BEGIN
        SET @oMade = @oMade + 1;
        INSERT INTO Taskgate.SharedTokenDemand (SharedLimitId, DeniedAt, GivenAt)
        SELECT s.SharedLimitId, '2000-01-01', '2000-01-01' FROM Taskgate.SharedLimit AS s WHERE s.Name = @vName;
      END;
    END;
    SELECT @vName = MIN(w.Name) FROM @vWanted AS w WHERE w.Name > @vName;
  END;
  SELECT @oShared = COALESCE(STRING_AGG(CONVERT(nvarchar(max), s.SharedLimitId), N','), N'')
  FROM @vWanted AS w
  INNER JOIN Taskgate.SharedLimit AS s ON s.Name = w.Name
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per name
END;
