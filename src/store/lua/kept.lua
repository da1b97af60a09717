-- Shared by the scripts that write kept fixes: what was delivered lately, by device and hour of the fixes' own time.
--
-- A device and hour has a list (see kept-fixes.ts). Its first entry names the lane of what was added last: FF and the lane,
-- for which it was delivered, or FE and the lane, for which it is queued once more; the next FE of a fix with this lane: withdrawn
-- from it. Chunks of fixes follow, each one push. Where the lane changes, its entry is added behind its chunks, and the first
-- entry is the new one.
local KEPT_HOUR = 3600000

-- Adds chunks: a sequence of hour (u32), device (its length first), fixes (u16 bytes). `place`: the first entry of their lists.
-- `kept`: prefix of the lists, key of the hours, ms for which they are kept by their own time (nil: only lists that exist get
-- something), and what `count_kept` adds.
local function keep(kept, place, chunks)
  local at, hour, device, fixes = 1, nil, nil, nil
  while at <= #chunks do
    hour, device, fixes, at = struct.unpack('>I4Bc0I2c0', chunks, at)
    local list = kept.prefix .. hour .. ':' .. device
    local before = redis.call('LINDEX', list, 0)
    local ends = kept.ms and (hour + 1) * KEPT_HOUR + kept.ms
    local is_kept = before or ends and ends > now
    if before == place then
      redis.call('RPUSH', list, fixes)
    elseif before then
      redis.call('RPUSH', list, before, fixes)
      redis.call('LSET', list, 0, place)
    elseif is_kept then
      local devices = kept.prefix .. hour
      redis.call('RPUSH', list, place, fixes)
      redis.call('PEXPIREAT', list, string.format('%.0f', ends))
      if redis.call('SADD', devices, device) == 1 then redis.call('PEXPIREAT', devices, string.format('%.0f', ends)) end
    end
    if is_kept then kept.counts[hour] = (kept.counts[hour] or 0) + #fixes / 14 end
  end
end

local function count_kept(kept)
  for hour, count in pairs(kept.counts) do redis.call('HINCRBY', kept.hours, hour, count) end
end
