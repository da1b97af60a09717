-- Notes that a process lives, by the clock of Redis, and forgets those that have not said so lately.
-- KEYS  members
-- ARGV  member, ms after which a member is forgotten
-- Answers how many members there are.
local members = KEYS[1]
local member, forget_ms = ARGV[1], ARGV[2]
redis.call('ZADD', members, now, member)
redis.call('ZREMRANGEBYSCORE', members, '-inf', now - forget_ms)
return redis.call('ZCARD', members)
