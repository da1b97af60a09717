-- Writes to the roster in one step, unless there was another write since the one that the caller knows of.
-- A change is JSON: {"devices": [[field, text] …], "assignments": [[field, text] …]}; null in place of a text drops the
-- field. The hashes keep `[<version>,<text>]`. Each change is an entry of the log; the last one of a write has the id
-- `<version>-<last_part>`.
-- A device belongs to its company since the write that took it from another one: then `[<version>,<text>,<since>]`. Of a device
-- that is dropped `former` keeps its company, when it was dropped, and its `since`: given to the same company again, it has its
-- earlier `since`; given to another one, it belongs to that since it was dropped.
-- Of a company's put (put_company is '' where the write is none) its result is kept, and what it replaced, each as
-- `<company> <version>`: of the last 20 puts of a company, for 31 days.
-- Answers with the new version: ms UTC by Redis' clock, always higher than the last; the last one where nothing but
-- notes of files is written; false: nothing is written.
local version_key, devices, assignments, files, log, results, replaced, former, offers = unpack(KEYS)
local as_of, last_part, file_notes, new_offers = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local put_company, put_result, put_replaced, first_change = ARGV[5], ARGV[6], ARGV[7], 8
local kept_entries, kept_bytes, kept_puts, kept_puts_ms = 1000, 4000000, 20, 31 * 86400000

local function store(key, fields, before, after, since)
  for _, field in ipairs(fields) do
    if field[2] == cjson.null then
      redis.call('HDEL', key, field[1])
    else
      local since_part = since and since[field[1]] and ',' .. string.format('%.0f', since[field[1]]) or ''
      redis.call('HSET', key, field[1], before .. field[2] .. since_part .. after)
    end
  end
end

-- Returns since when devices of a change belong to their companies, by id, if not since ever; and the new values of `former`,
-- false for those to delete.
local function companies_of(fields, version)
  local since, dropped = {}, {}
  for _, field in ipairs(fields) do
    local id, text = field[1], field[2]
    local entry = redis.call('HGET', devices, id)
    local before = entry and cjson.decode(entry)
    local kept = not before and redis.call('HGET', former, id)
    if text == cjson.null then
      if before then dropped[id] = cjson.encode({ before[2].company_id, tonumber(version), before[3] or 0 }) end
    elseif before or kept then
      local company, ends, began
      if before then
        company, ends, began = before[2].company_id, tonumber(version), before[3] or 0
      else
        company, ends, began = unpack(cjson.decode(kept))
        dropped[id] = false
      end
      local at = cjson.decode(text).company_id == company and began or ends
      if at > 0 then since[id] = at end
    end
  end
  return since, dropped
end

local function forget_old_puts()
  local prefix, ids = 'put ' .. put_company .. ' ', {}
  for _, field in ipairs(redis.call('HKEYS', results)) do
    if string.sub(field, 1, #prefix) == prefix then ids[#ids + 1] = string.sub(field, #prefix + 1) end
  end
  table.sort(ids)
  for i, id in ipairs(ids) do
    if i <= #ids - kept_puts or now - id > kept_puts_ms then
      redis.call('HDEL', results, prefix .. id)
      redis.call('HDEL', replaced, put_company .. ' ' .. id)
    end
  end
end

local last = redis.call('GET', version_key) or '0'
if as_of ~= last then return false end
local version = last
if #ARGV >= first_change then version = string.format('%.0f', math.max(now, tonumber(last) + 1)) end
for arg = first_change, #ARGV do
  -- First the commands that Redis refuses while its memory is full: then nothing is written. A large entry leaves room for
  -- few others: a process that misses those reads the whole roster.
  local kept = math.max(1, math.min(kept_entries, math.floor(kept_bytes / #ARGV[arg])))
  local change = cjson.decode(ARGV[arg])
  local since, dropped = companies_of(change.devices, version)
  local entry_id = version .. '-' .. (arg == #ARGV and last_part or arg)
  redis.call('XADD', log, 'MAXLEN', kept, entry_id, 'change', ARGV[arg], 'since', cjson.encode(since))
  store(devices, change.devices, '[' .. version .. ',', ']', since)
  for id, text in pairs(dropped) do
    if text then redis.call('HSET', former, id, text) else redis.call('HDEL', former, id) end
  end
  store(assignments, change.assignments, '[' .. version .. ',', ']')
end
store(files, cjson.decode(file_notes), '', '')
store(offers, cjson.decode(new_offers), '', '')
if put_company ~= '' then
  redis.call('HSET', results, 'put ' .. put_company .. ' ' .. version, put_result)
  redis.call('HSET', replaced, put_company .. ' ' .. version, put_replaced)
  forget_old_puts()
end
redis.call('SET', version_key, version)
return version
