import { yieldToEventLoop } from '../async.ts'
import type { RouteRow } from '../config/routes.ts'
import { keys, type Redis } from '../store/index.ts'
import { type Assignment, assignmentField, pullSource, readAssignmentField } from './assignment.ts'
import { type RosterResult, resultText } from './puts.ts'
import type { LineChange, Roster } from './roster.ts'
import { type FieldTexts, packed, unpacked } from './table.ts'

/*
 * What is kept of rosters that are pulled, by company and name, whichever process pulls:
 *
 *   file-versions   pulled <company> <name>   the fields of all lines that were taken last: JSON, gzip, base64
 *   results         pull <company> <name>     JSON of its result
 */

/** A roster that is pulled, by its company and its name. */
export interface PullName {
  readonly company_id: string
  readonly name: string
}

/** Resolves to the fields of the lines taken last; undefined: none were ever taken. */
export async function readPulled(redis: Redis, pull: PullName): Promise<ReadonlySet<string> | undefined> {
  const text = await redis.hget(keys.roster('file-versions'), pulledField(pull))
  return text === null ? undefined : new Set((await unpacked(text)) as string[])
}

/** Notes the fields of the lines that are taken. */
export async function pulledNote(pull: PullName, fields: Iterable<string>): Promise<FieldTexts> {
  return [[pulledField(pull), await packed([...fields])]]
}

/**
 * Returns the changes of a pulled roster: sets lines that are not in `before`, and drops those that are gone, unless another
 * writer has written them since.
 */
export async function pulledDifference(
  rows: readonly RouteRow[],
  { before, pull, roster }: { readonly before: ReadonlySet<string>; readonly pull: PullName; readonly roster: Roster },
): Promise<LineChange> {
  const { company_id, name } = pull
  const source = pullSource(name)
  const lines = new Map<string, Assignment | undefined>()
  const present = new Set<string>()
  for (const row of rows) {
    await yieldToEventLoop()
    const field = assignmentField(row)
    present.add(field)
    if (!before.has(field)) lines.set(field, { ...readAssignmentField(field), source, company_id, line: row.line })
  }
  for (const field of before) {
    await yieldToEventLoop()
    const line = present.has(field) ? undefined : roster.assignment(field)
    if (line?.source === source && line.company_id === company_id) lines.set(field, undefined)
  }
  return [...lines]
}

/** Resolves to the last result of a pull; undefined: there is none. */
export async function readPullResult(redis: Redis, pull: PullName): Promise<RosterResult | undefined> {
  const text = await redis.hget(keys.roster('results'), resultField(pull))
  return text === null ? undefined : (JSON.parse(text) as RosterResult)
}

export async function notePullResult(redis: Redis, result: RosterResult): Promise<void> {
  const { company_id = '', writer } = result
  await redis.hset(keys.roster('results'), resultField({ company_id, name: writer }), resultText(result))
}

/** Deletes the results of all other pulls. The lines that those have written stay. */
export async function keepPullResults(redis: Redis, pulls: readonly PullName[]): Promise<void> {
  const kept = new Set(pulls.map(resultField))
  const gone = (await redis.hkeys(keys.roster('results'))).filter((key) => key.startsWith('pull ') && !kept.has(key))
  if (gone.length > 0) await redis.hdel(keys.roster('results'), ...gone)
}

function pulledField({ company_id, name }: PullName): string {
  return `pulled ${company_id} ${name}`
}

function resultField({ company_id, name }: PullName): string {
  return `pull ${company_id} ${name}`
}
