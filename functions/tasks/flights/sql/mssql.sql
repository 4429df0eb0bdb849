-- Flights: the tables of the sample, in a schema of their own beside Taskgate's. Safe to run again, all but CREATE SCHEMA:
-- leave that batch out when the schema exists.
-- Twin: postgres.sql
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE SCHEMA Flights AUTHORIZATION dbo;
GO
-- One row per imported file, by the event that announced it. Keys compare byte by byte, as they do on PostgreSQL.
IF OBJECT_ID(N'Flights.SourceFile', N'U') IS NULL
CREATE TABLE Flights.SourceFile (
  EventId nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT PK_SourceFile PRIMARY KEY CLUSTERED,
  Name nvarchar(200) NOT NULL,
  RecordCount int NOT NULL,
  ImportedAt datetime2(3) NOT NULL);
GO
IF OBJECT_ID(N'Flights.Airport', N'U') IS NULL
CREATE TABLE Flights.Airport (
  Code nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT PK_Airport PRIMARY KEY CLUSTERED,
  Name nvarchar(200) NOT NULL,
  City nvarchar(200) NOT NULL,
  State nvarchar(50) NOT NULL,
  Country nvarchar(100) NOT NULL,
  Latitude float NOT NULL,
  Longitude float NOT NULL);
GO
-- Sums. Each row belongs to one origin: tasks of one origin run one after the other, so no task waits for a row here.
IF OBJECT_ID(N'Flights.OriginTotal', N'U') IS NULL
CREATE TABLE Flights.OriginTotal (
  Origin nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT PK_OriginTotal PRIMARY KEY CLUSTERED,
  FlightCount bigint NOT NULL,
  DelaySum bigint NOT NULL);
GO
IF OBJECT_ID(N'Flights.HourTotal', N'U') IS NULL
CREATE TABLE Flights.HourTotal (
  Origin nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Hour int NOT NULL CONSTRAINT CK_HourTotal_Hour CHECK (Hour BETWEEN 0 AND 23),
  FlightCount bigint NOT NULL,
  DelaySum bigint NOT NULL,
  CONSTRAINT PK_HourTotal PRIMARY KEY CLUSTERED (Origin, Hour));
GO
IF OBJECT_ID(N'Flights.RouteTotal', N'U') IS NULL
CREATE TABLE Flights.RouteTotal (
  Origin nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Destination nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
  FlightCount bigint NOT NULL,
  DelaySum bigint NOT NULL,
  DistanceSum bigint NOT NULL,
  CONSTRAINT PK_RouteTotal PRIMARY KEY CLUSTERED (Origin, Destination));
GO
-- What the parts of a file left of each origin, until the file's wave of totals adds it to the sums.
IF OBJECT_ID(N'Flights.BlockTotal', N'U') IS NULL
CREATE TABLE Flights.BlockTotal (
  WaveId bigint NOT NULL,
  Origin nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Part nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL,
  Totals nvarchar(max) NOT NULL,
  CONSTRAINT PK_BlockTotal PRIMARY KEY CLUSTERED (WaveId, Origin, Part) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
-- Flights.AddTotals: adds what one part of a file has of one origin.
-- In:     @Totals: {origin, flights, delay, hours: [{hour, flights, delay}], routes: [{destination, flights, delay, distance}]}
-- Locks:  OriginTotal, HourTotal, RouteTotal: rows of that origin, which no other task touches meanwhile
-- Once:   no; runs in the transaction of the task's completion
CREATE OR ALTER PROCEDURE Flights.AddTotals
  @Totals nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vOrigin nvarchar(10) = JSON_VALUE(@Totals, N'$.origin');
  DECLARE @vHour TABLE (Hour int NOT NULL PRIMARY KEY CLUSTERED, FlightCount bigint NOT NULL, DelaySum bigint NOT NULL);
  DECLARE @vRoute TABLE (
    Destination nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED,
    FlightCount bigint NOT NULL, DelaySum bigint NOT NULL, DistanceSum bigint NOT NULL);

  INSERT INTO Flights.OriginTotal (Origin, FlightCount, DelaySum)
  SELECT @vOrigin, 0, 0
  WHERE NOT EXISTS (SELECT 1 FROM Flights.OriginTotal AS t WHERE t.Origin = @vOrigin);
  UPDATE t
  SET FlightCount = t.FlightCount + CONVERT(bigint, JSON_VALUE(@Totals, N'$.flights')),
      DelaySum = t.DelaySum + CONVERT(bigint, JSON_VALUE(@Totals, N'$.delay'))
  FROM Flights.OriginTotal AS t
  WHERE t.Origin = @vOrigin;

  INSERT INTO @vHour (Hour, FlightCount, DelaySum)
  SELECT j.Hour, j.Flights, j.Delay
  FROM OPENJSON(@Totals, N'$.hours') WITH (Hour int N'$.hour', Flights bigint N'$.flights', Delay bigint N'$.delay') AS j;
  UPDATE t
  SET FlightCount = t.FlightCount + h.FlightCount, DelaySum = t.DelaySum + h.DelaySum
  FROM @vHour AS h
  INNER JOIN Flights.HourTotal AS t ON t.Origin = @vOrigin AND t.Hour = h.Hour
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per hour
  INSERT INTO Flights.HourTotal (Origin, Hour, FlightCount, DelaySum)
  SELECT @vOrigin, h.Hour, h.FlightCount, h.DelaySum
  FROM @vHour AS h
  WHERE NOT EXISTS (SELECT 1 FROM Flights.HourTotal AS t WHERE t.Origin = @vOrigin AND t.Hour = h.Hour)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per hour

  INSERT INTO @vRoute (Destination, FlightCount, DelaySum, DistanceSum)
  SELECT j.Destination, j.Flights, j.Delay, j.Distance
  FROM OPENJSON(@Totals, N'$.routes') WITH (
    Destination nvarchar(10) N'$.destination', Flights bigint N'$.flights', Delay bigint N'$.delay', Distance bigint N'$.distance') AS j;
  UPDATE t
  SET FlightCount = t.FlightCount + r.FlightCount, DelaySum = t.DelaySum + r.DelaySum, DistanceSum = t.DistanceSum + r.DistanceSum
  FROM @vRoute AS r
  INNER JOIN Flights.RouteTotal AS t ON t.Origin = @vOrigin AND t.Destination = r.Destination
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per destination
  INSERT INTO Flights.RouteTotal (Origin, Destination, FlightCount, DelaySum, DistanceSum)
  SELECT @vOrigin, r.Destination, r.FlightCount, r.DelaySum, r.DistanceSum
  FROM @vRoute AS r
  WHERE NOT EXISTS (SELECT 1 FROM Flights.RouteTotal AS t WHERE t.Origin = @vOrigin AND t.Destination = r.Destination)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per destination
END;
GO
-- Flights.AddBlockTotals: leaves what one part of a file has, for AddFileTotals.
-- In:     @WaveId: the file's wave of totals; @Part: block or row; @Totals: JSON array, one entry per origin as AddTotals reads it
-- Locks:  BlockTotal: own new rows
-- Once:   by wave, origin and part
CREATE OR ALTER PROCEDURE Flights.AddBlockTotals
  @WaveId bigint, @Part nvarchar(20), @Totals nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  INSERT INTO Flights.BlockTotal (WaveId, Origin, Part, Totals)
  SELECT @WaveId, JSON_VALUE(j.[value], N'$.origin'), @Part, j.[value]
  FROM OPENJSON(@Totals) AS j
  WHERE NOT EXISTS (
    SELECT 1 FROM Flights.BlockTotal AS t
    WHERE t.WaveId = @WaveId AND t.Origin = JSON_VALUE(j.[value], N'$.origin') COLLATE Latin1_General_100_BIN2 AND t.Part = @Part);
END;
GO
-- Flights.AddFileTotals: adds what the parts of a file left of one origin, and removes it.
-- In:     @WaveId: the file's wave of totals; @Origin
-- Locks:  as AddTotals, and BlockTotal: rows of that wave and origin
-- Once:   added rows are deleted; runs in the transaction of the task's completion
CREATE OR ALTER PROCEDURE Flights.AddFileTotals
  @WaveId bigint, @Origin nvarchar(10)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vPart nvarchar(20), @vTotals nvarchar(max);
  SELECT @vPart = MIN(t.Part) FROM Flights.BlockTotal AS t WHERE t.WaveId = @WaveId AND t.Origin = @Origin;
  WHILE @vPart IS NOT NULL
  BEGIN
    SELECT @vTotals = t.Totals FROM Flights.BlockTotal AS t WHERE t.WaveId = @WaveId AND t.Origin = @Origin AND t.Part = @vPart;
    EXEC Flights.AddTotals @Totals = @vTotals;
    SELECT @vPart = MIN(t.Part)
    FROM Flights.BlockTotal AS t WHERE t.WaveId = @WaveId AND t.Origin = @Origin AND t.Part > @vPart;
  END;
  DELETE t FROM Flights.BlockTotal AS t WHERE t.WaveId = @WaveId AND t.Origin = @Origin;
END;
GO
-- Flights.AddAirports: adds airports; those that are known get the new facts.
-- In:     @Airports: [{code, name, city, state, country, latitude, longitude}]
-- Locks:  Airport
-- Once:   by code
CREATE OR ALTER PROCEDURE Flights.AddAirports
  @Airports nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vAirport TABLE (
    Code nvarchar(10) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) NOT NULL, City nvarchar(200) NOT NULL,
    State nvarchar(50) NOT NULL, Country nvarchar(100) NOT NULL, Latitude float NOT NULL, Longitude float NOT NULL);

  INSERT INTO @vAirport (Code, Name, City, State, Country, Latitude, Longitude)
  SELECT j.Code, MIN(j.Name), MIN(j.City), MIN(j.State), MIN(j.Country), MIN(j.Latitude), MIN(j.Longitude)
  FROM OPENJSON(@Airports) WITH (
    Code nvarchar(10) COLLATE Latin1_General_100_BIN2 N'$.code', Name nvarchar(200) N'$.name', City nvarchar(200) N'$.city', State nvarchar(50) N'$.state',
    Country nvarchar(100) N'$.country', Latitude float N'$.latitude', Longitude float N'$.longitude') AS j
  GROUP BY j.Code;
  UPDATE a
  SET Name = n.Name, City = n.City, State = n.State, Country = n.Country, Latitude = n.Latitude, Longitude = n.Longitude
  FROM @vAirport AS n
  INNER JOIN Flights.Airport AS a ON a.Code = n.Code
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per airport
  INSERT INTO Flights.Airport (Code, Name, City, State, Country, Latitude, Longitude)
  SELECT n.Code, n.Name, n.City, n.State, n.Country, n.Latitude, n.Longitude
  FROM @vAirport AS n
  WHERE NOT EXISTS (SELECT 1 FROM Flights.Airport AS a WHERE a.Code = n.Code)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per airport
END;
GO
-- Flights.AddSourceFile: notes that a file was imported.
-- In:     @EventId: of the event that announced it; @Name; @RecordCount
-- Locks:  SourceFile
-- Once:   by event
CREATE OR ALTER PROCEDURE Flights.AddSourceFile
  @EventId nvarchar(200), @Name nvarchar(200), @RecordCount int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  INSERT INTO Flights.SourceFile (EventId, Name, RecordCount, ImportedAt)
  SELECT @EventId, @Name, @RecordCount, SYSUTCDATETIME()
  WHERE NOT EXISTS (SELECT 1 FROM Flights.SourceFile AS f WHERE f.EventId = @EventId);
END;
GO
-- Flights.UnknownAirports: those of some codes that no airport has.
-- In:     @Codes: JSON array of texts
-- Rows:   code, in order
CREATE OR ALTER PROCEDURE Flights.UnknownAirports
  @Codes nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SELECT j.Value AS code
  FROM OPENJSON(@Codes) WITH (Value nvarchar(10) COLLATE Latin1_General_100_BIN2 N'$') AS j
  WHERE NOT EXISTS (SELECT 1 FROM Flights.Airport AS a WHERE a.Code = j.Value)
  ORDER BY j.Value;
END;
GO
-- The results: Delay is the mean in minutes, early flights counted as negative.
CREATE OR ALTER VIEW Flights.vDelayByOrigin AS
SELECT t.Origin, a.City, t.FlightCount, CONVERT(decimal(9, 1), ROUND(CONVERT(decimal(19, 6), t.DelaySum) / t.FlightCount, 1)) AS Delay
FROM Flights.OriginTotal AS t
INNER JOIN Flights.Airport AS a ON a.Code = t.Origin;
GO
CREATE OR ALTER VIEW Flights.vDelayByHour AS
SELECT t.Hour, SUM(t.FlightCount) AS FlightCount,
       CONVERT(decimal(9, 1), ROUND(CONVERT(decimal(19, 6), SUM(t.DelaySum)) / SUM(t.FlightCount), 1)) AS Delay
FROM Flights.HourTotal AS t
GROUP BY t.Hour;
GO
CREATE OR ALTER VIEW Flights.vBusiestRoute AS
SELECT t.Origin, t.Destination, t.FlightCount,
       CONVERT(decimal(9, 1), ROUND(CONVERT(decimal(19, 6), t.DelaySum) / t.FlightCount, 1)) AS Delay,
       CONVERT(bigint, ROUND(CONVERT(decimal(19, 6), t.DistanceSum) / t.FlightCount, 0)) AS Distance
FROM Flights.RouteTotal AS t;
GO
-- Workers may call; only the owner may write by hand.
IF DATABASE_PRINCIPAL_ID(N'TaskgateWorker') IS NOT NULL
  EXEC (N'GRANT SELECT, EXECUTE ON SCHEMA::Flights TO TaskgateWorker;'); -- as text: the role is another script's
GO
