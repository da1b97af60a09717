-- Leases the lanes that are due. A lease's end, by Redis' own clock, is its token; ends have the fraction .5, due times none.
-- KEYS  schedule
-- ARGV  ms of a lease, lanes at most (1000)
-- Answers the token, then the lanes; nothing where none is due.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lanes = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
if #lanes == 0 then return lanes end

local token = string.format('%.1f', now + ARGV[1] + 0.5)
local leased = { 'ZADD', KEYS[1], 'XX' }
for _, lane in ipairs(lanes) do
  leased[#leased + 1] = token
  leased[#leased + 1] = lane
end
redis.call(unpack(leased))
table.insert(lanes, 1, token)
return lanes
