-- Adds an entry to the audit log, and drops the oldest beyond what is kept.
-- KEYS  audit
-- ARGV  how many are kept, the entry
redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[1], '*', 'entry', ARGV[2])
