import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file with a paragraph for each finding. */
export const PARAGRAPHS_FILE = fileURLToPath(new URL('../../diagnose/README.md', import.meta.url))

/** Returns the meaning of each finding, and when it begins and ends, by its code; one line each. */
export function paragraphs() {
  const sections = readFileSync(PARAGRAPHS_FILE, 'utf8').split(/^## /m)
  const ofFindings = sections.map((section) => /^([a-z_]+)\n([^]*)$/.exec(section)).filter((found) => found !== null)
  return Object.fromEntries(ofFindings.map(([, code, text]) => [code, text.trim().replace(/\s+/g, ' ')]))
}
