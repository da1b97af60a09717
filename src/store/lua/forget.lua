-- Deletes strings of marks to which nothing was added for the window, as many at once as take some milliseconds.
-- ARGV  how many at most; the time by the clock of the gateway: the earlier one counts, since one clock may have been set forward
-- Answers how many were deleted.
-- include marks
local marks_prefix, mark_expiries, mark_bytes = unpack(KEYS)
local most, gateway_now = ARGV[1], tonumber(ARGV[2])
local names = redis.call('ZRANGEBYSCORE', mark_expiries, '-inf', math.min(now, gateway_now), 'LIMIT', 0, most)
for _, name in ipairs(names) do
  local size = marks_size(redis.call('STRLEN', marks_prefix .. name))
  redis.call('DEL', marks_prefix .. name)
  redis.call('ZREM', mark_expiries, name)
  local device = string.match(name, '^(.*):')
  if redis.call('HINCRBY', mark_bytes, device, -size) <= 0 then redis.call('HDEL', mark_bytes, device) end
  redis.call('HINCRBY', mark_bytes, '', -size)
end
return #names
