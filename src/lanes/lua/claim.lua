-- Leases the lanes that are due. A lease's end, by Redis' own clock, is its token; ends have the fraction .5 (.75 once
-- it was taken), due times none.
-- While the service is down or limits us, one lane at a time, when it is time for a probe.
-- KEYS  schedule, upstream
-- ARGV  ms of a lease, lanes at most (1000)
-- Answers the token, then the lanes; nothing where none is due.
local limit = tonumber(ARGV[2])
local upstream = redis.call('HMGET', KEYS[2], 'state', 'probe')
local probing = upstream[1] and upstream[1] ~= 'up'
if probing then
  if now < tonumber(upstream[2] or 0) then return {} end
  limit = 1
end
local lanes = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, limit)
-- Lanes that wait for their own delay are as good as any to see whether the service is back.
if #lanes == 0 and probing then
  for _, lane in ipairs(redis.call('ZRANGE', KEYS[1], 0, 9, 'WITHSCORES')) do lanes[#lanes + 1] = lane end
  local free
  for i = 1, #lanes, 2 do
    if not free and tonumber(lanes[i + 1]) % 1 == 0 then free = lanes[i] end
  end
  lanes = free and { free } or {}
end
if #lanes == 0 then return lanes end

if probing then redis.call('HSET', KEYS[2], 'probe', now + ARGV[1], 'prober', lanes[1]) end
local token = string.format('%.1f', now + ARGV[1] + 0.5)
local leased = { 'ZADD', KEYS[1], 'XX' }
for _, lane in ipairs(lanes) do
  leased[#leased + 1] = token
  leased[#leased + 1] = lane
end
redis.call(unpack(leased))
table.insert(lanes, 1, token)
return lanes
