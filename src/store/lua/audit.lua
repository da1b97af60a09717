-- Adds an entry, JSON, to the audit log.
local log = KEYS[1]
local kept, entry = unpack(ARGV)
redis.call('XADD', log, 'MAXLEN', '=', kept, '*', 'entry', entry)
