import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file with a paragraph for each finding, below its link. */
export const PARAGRAPHS_FILE = fileURLToPath(new URL('../../diagnose/README.md', import.meta.url))

const PARAGRAPH = /^<a id="(\w+)"><\/a>\*\*\1\*\* \*(\w)(\w+)\*: (.*)$/

/** Returns the meaning of each finding, when it begins and ends, its severity and link, by its code; one line each. */
export function paragraphs() {
  const [, ...sections] = readFileSync(PARAGRAPHS_FILE, 'utf8').split(/^## /m)
  const all = sections.flatMap((section) => {
    const [link, ...entries] = section.split(/\n+- /)
    return entries.map((entry) => {
      const parts = PARAGRAPH.exec(entry.trim().replace(/\s+/g, ' '))
      if (!parts) throw new Error(`${PARAGRAPHS_FILE}: cannot read the paragraph "${entry}"`)
      const [, code, initial, severity, text] = parts
      return [code, `${text} *${initial.toUpperCase()}${severity}*, link *${link}*.`]
    })
  })
  return Object.fromEntries(all)
}
