-- Part of store.lua: what copies get of the fixes that are stored (see ../copied.ts).
-- The log that has the fixes without a route as well.
local WITHOUT_ROUTE = '%S+~'
local MOST_IN_SECTION = 255
-- Of each log: the pieces of its entry, and how many fixes they have.
local pieces_of, fixes_of, names_of = {}, {}, {}

-- Removes what only logs keep from records; also for a run that is held, and so is written to no log.
local function own_records(run, records)
  if not run.own_length then return records end
  local own, own_length, length = {}, run.own_length, string.char(run.own_length)
  for i = 1, #records do own[i] = length .. sub(records[i], 2, own_length) end
  return own
end

-- The names of the logs of a run.
local function names_in(logs)
  local names = names_of[logs]
  if names then return names end
  names = {}
  for log in string.gmatch(logs, '%S+') do names[#names + 1] = log end
  names_of[logs] = names
  return names
end

-- Adds these records of a run to a log, as a section.
local function add_section(log, run, records, first, last)
  local pieces, behind = pieces_of[log], run.own_length + 1
  if not pieces then
    pieces = {}
    pieces_of[log], fixes_of[log] = pieces, 0
  end
  local at = #pieces + 2
  pieces[at - 1], pieces[at] = string.char(last - first + 1), run.head
  for i = first, last do pieces[at + 1 + i - first] = sub(records[i], behind) end
  fixes_of[log] = fixes_of[log] + last - first + 1
end

-- Adds these records of a run to each of its logs.
local function copy(run, records)
  if run.logs == '' then return end
  for _, log in ipairs(names_in(run.logs)) do
    for first = 1, #records, MOST_IN_SECTION do
      add_section(log, run, records, first, math.min(first + MOST_IN_SECTION - 1, #records))
    end
  end
end

-- One entry for each log, however many copies get it.
local function write_copied()
  for log, pieces in pairs(pieces_of) do
    redis.call('RPUSH', copied_prefix .. log, table.concat(pieces))
    redis.call('HINCRBY', copied_entries, log, 1)
    redis.call('HINCRBY', copied_fixes, log, fixes_of[log])
  end
end
