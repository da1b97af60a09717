import type { Facts, Found } from './facts.ts'

/** What is wrong with the roster: lines that were left out, and files or companies that are out of date. */
export function rosterTroubles({ roster }: Facts): Found[] {
  if (!roster) return []
  const rejected = roster.rejected.map(
    ({ writer, company_id, lines, at, evidence }): Found => ({
      code: 'roster_rejected',
      subject: { company_id },
      sinceAt: at,
      count: lines,
      message:
        lines === 1
          ? `a line of ${writer} is left out of the roster`
          : `${lines} lines of ${writer} are left out of the roster`,
      evidence,
    }),
  )
  const stale = roster.stale.map(
    ({ name, at }): Found => ({
      code: 'roster_stale',
      sinceAt: at,
      message: `${name} is an older copy of what was written to the roster: it is not in effect`,
      evidence: [name],
    }),
  )
  const missing = roster.missing.map(
    (company_id): Found => ({
      code: 'roster_stale',
      subject: { company_id },
      message: `company ${company_id} has no line for today, and had some on each of the last five working days`,
    }),
  )
  return [...rejected, ...stale, ...missing]
}
