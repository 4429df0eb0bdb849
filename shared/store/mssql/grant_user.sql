-- grant_user: database user of the function app's managed identity, and its membership of one role.
-- For:    DBAs who create users by hand. "taskgate migrate --grant <name>:<client id> --role <role>" runs the same text,
--         with parameters in place of the three values below.
-- Where:  the Taskgate database (not master), after "taskgate migrate" has made the roles.
-- Rights: the server's Entra administrator, or db_owner with ALTER ANY USER.
-- Edit:   the values below. The first two are outputs of the deployment: WORKER_IDENTITY_NAME and
--         WORKER_IDENTITY_CLIENT_ID (the client id, not the object id). Run it once more with TaskgateOperator
--         where operators use the app's HTTP routes and dashboard.
-- Again:  changes nothing if the user is right, and takes no role away. A user with another SID belongs to an
--         identity that was deleted and made anew under the same name: it is dropped and created.
-- Rows:   UserName, ClientId, RoleName: one per role of the user; then RoleName: one per role that went with a user dropped
-- Raises: 50000 wrong database, role missing, or the name is taken by a user of another kind.
--
-- WITH SID ..., TYPE = E instead of FROM EXTERNAL PROVIDER: no look-up in the directory, so neither the
-- caller nor the server needs rights to read it. The SID of a managed identity is its client id.
SET NOCOUNT ON;
SET XACT_ABORT ON;

DECLARE @IdentityName nvarchar(128) = N'<WORKER_IDENTITY_NAME>';
DECLARE @ClientIdText nvarchar(36) = N'<WORKER_IDENTITY_CLIENT_ID>';
DECLARE @RoleName nvarchar(128) = N'TaskgateWorker';

DECLARE @ClientId uniqueidentifier = TRY_CONVERT(uniqueidentifier, @ClientIdText);
DECLARE @Sid varbinary(85) = CAST(@ClientId AS varbinary(16));
DECLARE @UserSid varbinary(85);
DECLARE @UserType char(1);
DECLARE @Lost TABLE (RoleName nvarchar(128) NOT NULL);
DECLARE @Message nvarchar(400);
DECLARE @Statement nvarchar(max);

IF @ClientId IS NULL OR @IdentityName LIKE N'<%'
    THROW 50000, 'Put the name and the client id of the identity into this script first.', 1;
IF DB_NAME() = N'master'
    THROW 50000, 'Run this in the Taskgate database, not in master.', 1;
IF DATABASE_PRINCIPAL_ID(N'TaskgateWorker') IS NULL
    THROW 50000, 'Role TaskgateWorker is missing: run taskgate migrate first.', 1;
IF NOT EXISTS (SELECT 1 FROM sys.database_principals AS p WHERE p.name = @RoleName AND p.type = 'R')
BEGIN
    SET @Message = N'There is no role ' + QUOTENAME(@RoleName) + N' in this database.';
    THROW 50000, @Message, 1;
END;

BEGIN TRY
    BEGIN TRANSACTION;

    SELECT @UserSid = p.sid, @UserType = p.type
    FROM sys.database_principals AS p
    WHERE p.name = @IdentityName;

    IF @UserType IS NOT NULL AND @UserType <> 'E'
        THROW 50000, 'The name is taken by a user or role that is no Entra identity.', 1;

    IF @UserSid IS NOT NULL AND @UserSid <> @Sid
    BEGIN
        -- Rights of a deleted identity don't pass to another one by its name alone: they are told, not given.
        INSERT INTO @Lost (RoleName)
        SELECT r.name
        FROM sys.database_role_members AS m
        JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
        JOIN sys.database_principals AS u ON u.principal_id = m.member_principal_id
        WHERE u.name = @IdentityName AND r.name <> @RoleName;
        SET @Statement = N'DROP USER ' + QUOTENAME(@IdentityName) + N';';
        EXEC sys.sp_executesql @Statement;
        SET @UserSid = NULL;
    END;

    IF @UserSid IS NULL
    BEGIN
        SET @Statement = N'CREATE USER ' + QUOTENAME(@IdentityName)
            + N' WITH SID = ' + CONVERT(nvarchar(100), @Sid, 1) + N', TYPE = E;';
        EXEC sys.sp_executesql @Statement;
    END;

    -- Adds roles only: a role that the user already has was granted on purpose and stays.
    IF NOT EXISTS (
        SELECT 1
        FROM sys.database_role_members AS m
        JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
        JOIN sys.database_principals AS u ON u.principal_id = m.member_principal_id
        WHERE u.name = @IdentityName AND r.name = @RoleName
    )
    BEGIN
        SET @Statement = N'ALTER ROLE ' + QUOTENAME(@RoleName) + N' ADD MEMBER ' + QUOTENAME(@IdentityName) + N';';
        EXEC sys.sp_executesql @Statement;
    END;

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0
        ROLLBACK TRANSACTION;
    THROW;
END CATCH;

-- One row per role of the user; then one per role that its predecessor of the same name had.
SELECT u.name AS UserName, CAST(u.sid AS uniqueidentifier) AS ClientId, r.name AS RoleName
FROM sys.database_principals AS u
JOIN sys.database_role_members AS m ON m.member_principal_id = u.principal_id
JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
WHERE u.name = @IdentityName
ORDER BY r.name;

SELECT l.RoleName AS RoleName
FROM @Lost AS l
ORDER BY l.RoleName;
