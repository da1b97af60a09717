-- Notes that a process lives, and which format of the data it knows. The format of the data rises once every process that gave a
-- sign lately knows a higher one. A process that does not know the format of the data is not noted.
-- ARGV  id of the process, the format that it knows, its sign (JSON, with `format`), for how many ms the sign holds
-- Answers the format of the data.
local format_key, ids, prefix = unpack(KEYS)
local id, known, sign, kept_ms = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

local function all_know()
  for _, each in ipairs(redis.call('SMEMBERS', ids)) do
    local other = redis.call('GET', prefix .. each)
    if other and (cjson.decode(other).format or 0) < known then return false end
  end
  return true
end

local format = tonumber(redis.call('GET', format_key) or 0)
if format > known then return format end
redis.call('SET', prefix .. id, sign, 'PX', kept_ms)
redis.call('SADD', ids, id)
if format < known and all_know() then
  redis.call('SET', format_key, known)
  return known
end
return format
