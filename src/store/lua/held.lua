-- Claims devices of zsets whose held fixes, or frames, are to be looked at by now: they are looked at again after a while, unless whoever looks
-- says an earlier time.
-- KEYS  the zsets
-- ARGV  how many of each at most, ms until they are looked at again
-- Answers their names for each zset.
local function claim_held()
  local most, again_ms = ARGV[1], ARGV[2]
  local claimed = {}
  for i, devices in ipairs(KEYS) do
    claimed[i] = redis.call('ZRANGEBYSCORE', devices, '-inf', now, 'LIMIT', 0, most)
    for _, name in ipairs(claimed[i]) do redis.call('ZADD', devices, 'XX', now + again_ms, name) end
  end
  return claimed
end

-- Sets when the held fixes of a device are judged again. An earlier time stays if fixes have come since they were
-- counted, or if lookAtAll has made them due now.
-- KEYS  zset of devices with held fixes, the list
-- ARGV  the device, how many were counted, the time, ms UTC
local function look_again()
  local devices, list = unpack(KEYS)
  local device, counted, at = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local was_at = tonumber(redis.call('ZSCORE', devices, device) or 0)
  local is_all = redis.call('LLEN', list) == counted
  if at < was_at or is_all and was_at > now then redis.call('ZADD', devices, 'XX', at, device) end
end

-- Returns those names that a zset contains.
local function names_in(devices, names)
  local found = {}
  if #names == 0 or redis.call('EXISTS', devices) == 0 then return found end
  for i, score in ipairs(redis.call('ZMSCORE', devices, unpack(names))) do
    if score then found[#found + 1] = names[i] end
  end
  return found
end

-- Marks devices with held fixes that a change of the roster, or of a clock, may give a place: until all of these were looked at,
-- new fixes of the device go behind them (store.lua). The mark is the version of the roster, with a fraction that grows with each
-- mark by the same version: what was judged before does not end the release.
-- KEYS  zset of the devices that are being released, the version of the roster as this shard knows it, the zsets of devices with
--       held fixes
-- ARGV  version of the roster; '1' where this shard has a copy of it alone; the names of devices
-- Answers how many were found to have held fixes; a device may count several times.
local function mark_releasing()
  -- A version is in ms, and a double has 11 bits for its fraction.
  local AGAIN = 1 / 1024
  local releasing, roster_version = KEYS[1], KEYS[2]
  local version, is_copy = unpack(ARGV, 1, 2)
  local names = { unpack(ARGV, 3) }
  if is_copy == '1' and tonumber(redis.call('GET', roster_version) or 0) < tonumber(version) then
    redis.call('SET', roster_version, version)
  end
  local found = 0
  for i = 3, #KEYS do
    for _, name in ipairs(names_in(KEYS[i], names)) do
      found = found + 1
      local mark = tonumber(redis.call('ZSCORE', releasing, same_id(name)) or -1)
      redis.call('ZADD', releasing, string.format('%.17g', mark < tonumber(version) and version or mark + AGAIN), same_id(name))
    end
  end
  return found
end

-- Ends the release of a device, if nothing has come to its held fixes since they were looked at.
-- KEYS  zset of the devices that are being released, the lists of what is held of the device
-- ARGV  the device, its mark before they were looked at, of each list how many stayed
-- Answers 1; 0: there is more to look at, or the device was marked again.
local function end_release()
  local releasing, device, mark = KEYS[1], ARGV[1], ARGV[2]
  for i = 2, #KEYS do
    if redis.call('LLEN', KEYS[i]) ~= tonumber(ARGV[i + 1]) then return 0 end
  end
  if tonumber(redis.call('ZSCORE', releasing, device) or -1) ~= tonumber(mark) then return 0 end
  redis.call('ZREM', releasing, device)
  return 1
end
