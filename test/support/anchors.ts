import { readFileSync } from 'node:fs'

/** Returns what a link into a Markdown file may name behind its `#`: headings as GitHub names them, and ids. */
export function anchorsOf(path: string): Set<string> {
  const text = readFileSync(path, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading.toLowerCase())
  const ids = Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id]) => id)
  return new Set([...headings.map((heading) => heading.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-')), ...ids])
}
