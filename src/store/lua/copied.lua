-- Part of store.lua: what copies get of the fixes that are stored (see ../copied.ts).
-- The log that has the fixes without a route as well.
local WITHOUT_ROUTE = '%S+~'
local MOST_IN_SECTION = 255
-- Of each log: the sections of this call, and how many fixes they have.
local sections_of, fixes_of = {}, {}

-- Records without what only logs keep of them.
local function own_records(run, records)
  if run.logs == '' then return records end
  local own, length = {}, string.char(run.own_length)
  for i, record in ipairs(records) do own[i] = length .. sub(record, 2, run.own_length) end
  return own
end

-- Has the logs of a run get these of its records.
local function copy(run, records)
  if run.logs == '' then return end
  for first = 1, #records, MOST_IN_SECTION do
    local last = math.min(first + MOST_IN_SECTION - 1, #records)
    local section = { string.char(last - first + 1), run.head }
    for i = first, last do section[#section + 1] = sub(records[i], run.own_length + 1) end
    section = table.concat(section)
    for log in string.gmatch(run.logs, '%S+') do
      local sections = sections_of[log] or {}
      sections[#sections + 1] = section
      sections_of[log] = sections
      fixes_of[log] = (fixes_of[log] or 0) + last - first + 1
    end
  end
end

-- One entry for each log, however many copies get it.
local function write_copied()
  for log, sections in pairs(sections_of) do
    redis.call('RPUSH', copied_prefix .. log, table.concat(sections))
    redis.call('HINCRBY', copied_entries, log, 1)
    redis.call('HINCRBY', copied_fixes, log, fixes_of[log])
  end
end
