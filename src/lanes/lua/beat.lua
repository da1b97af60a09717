-- Says that a process lives, by Redis' own clock, and forgets those that did not say so lately.
-- KEYS  members
-- ARGV  member; ms after which one is forgotten
-- Answers how many there are.
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return redis.call('ZCARD', KEYS[1])
