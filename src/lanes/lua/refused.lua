-- With what answers a lane's records were refused, without the records.
-- KEYS  lane's refused
-- ARGV  first and last entry wanted
-- Answers the headers of those entries (see refuse.lua).
local headers = {}
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], ARGV[1], ARGV[2])) do
  headers[#headers + 1] = string.sub(entry, 5, 4 + struct.unpack('>I4', entry))
end
return headers
