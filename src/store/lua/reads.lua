-- Adds an entry, JSON, to the log of reads, unless the same read was noted within a time.
local log, noted = KEYS[1], KEYS[2]
local kept, quiet_ms, entry = unpack(ARGV)
if redis.call('SET', noted, '', 'NX', 'PX', quiet_ms) then
  redis.call('XADD', log, 'MAXLEN', '=', kept, '*', 'entry', entry)
end
