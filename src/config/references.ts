import { readFileSync } from 'node:fs'

/**
 * What a scalar stands for: `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` are looked up, any other text is
 * itself. The default also holds where the variable is empty; a file's line ends at its end are dropped.
 * @returns `mistake`: a sentence that names the variable or file; neither it nor any other message has the value
 */
export function resolveReference(text: string): { text: string } | { mistake: string } {
  if (!text.includes('${')) return { text }
  const match = /^\$\{(env|file):([^}]*)\}$/.exec(text)
  if (!match) return /\$\{(env|file):/.test(text) ? { mistake: WHOLE } : { text }
  return match[1] === 'env' ? fromEnvironment(match[2]) : fromFile(match[2])
}

function fromEnvironment(reference: string): { text: string } | { mistake: string } {
  const [, name, fallback] = /^(.*?)(?::-(.*))?$/s.exec(reference) ?? []
  const value = process.env[name]
  if (fallback !== undefined) return { text: value || fallback }
  return value === undefined ? { mistake: `the environment variable ${name} is not set` } : { text: value }
}

function fromFile(path: string): { text: string } | { mistake: string } {
  try {
    return { text: readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') }
  } catch (error) {
    return { mistake: `the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
}

const WHOLE = 'a reference such as ${env:NAME} must be the whole value'
