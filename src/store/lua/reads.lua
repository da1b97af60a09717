-- Adds an entry, JSON, to the log of reads, unless the same read was noted within a time.
-- ARGV  how many entries are kept, that time in ms, hash of the entry, entry
-- Answers the id of the entry that is added.
local log, noted = KEYS[1], KEYS[2]
local kept, quiet_ms, hash, entry = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]
redis.call('ZREMRANGEBYSCORE', noted, '-inf', now - quiet_ms)
if redis.call('ZADD', noted, 'NX', now, hash) == 0 then return end
redis.call('ZREMRANGEBYRANK', noted, 0, -1 - kept)
redis.call('PEXPIRE', noted, quiet_ms)
return redis.call('XADD', log, 'MAXLEN', '=', kept, '*', 'entry', entry)
