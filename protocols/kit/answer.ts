import type { Draft } from './draft.ts'
import type { Session } from './protocol.ts'

/** The text of an answer to a line. */
export type AnswerTemplate = (draft: Draft, session: Session) => string

/**
 * An answer as a specification draws it: `{id}` is the device, of the line or of the connection; `{clock}` the arrival,
 * YYYYMMDDhhmmss, of which `{date}` is YYYYMMDD, `{ymd}` YYMMDD, `{hhmmss}` the time of day; `{count}` how many records are
 * good; other names are fields of the line, as they came. Braces of the answer itself have a `\` in front of them.
 * @throws Error of an unknown name
 */
export function templateOf(text: string, names: ReadonlyMap<string, number>): AnswerTemplate {
  const parts = Array.from(text.matchAll(TOKEN), ([token, escaped, name]): string | AnswerTemplate => {
    if (name === undefined) return escaped ?? token
    if (Object.hasOwn(VALUES, name)) return VALUES[name]
    if (!names.has(name)) throw new Error(`the answer ${text}: {${name}} is no field of the line`)
    return (draft) => draft.text(name)
  })
  return (draft, session) => {
    let answer = ''
    for (const part of parts) answer += typeof part === 'string' ? part : part(draft, session)
    return answer
  }
}

const TOKEN = /\\([\\{}])|\{(\w+)\}|[^\\{}]+|./gs

const VALUES: Readonly<Record<string, AnswerTemplate>> = {
  id: (draft, session) => draft.device ?? session.device ?? '',
  count: ({ count }) => String(count),
  clock: (_, { now }) => clock(now),
  date: (_, { now }) => clock(now).slice(0, 8),
  ymd: (_, { now }) => clock(now).slice(2, 8),
  hhmmss: (_, { now }) => clock(now).slice(8),
  unix: (_, { now }) => String(Math.floor(now / 1000)),
}

/** YYYYMMDDhhmmss of an instant, ms UTC. */
export function clock(now: number): string {
  const second = Math.floor(now / 1000)
  if (second !== last.second)
    last = { second, text: new Date(second * 1000).toISOString().replace(/\D/g, '').slice(0, 14) }
  return last.text
}

/** Kept because thousands of frames arrive within one second. */
let last = { second: Number.NaN, text: '' }
