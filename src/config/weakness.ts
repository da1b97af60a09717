import { sameId } from './units.ts'

/**
 * Why a secret or token is too easily guessed, and how to make a better one; undefined if it is strong enough. `id`:
 * the id of the device that the secret is for. The secret itself is never part of the text.
 */
export function weaknessOf(secret: string, id?: string): string | undefined {
  if (secret.length < MIN_LENGTH) return `too short: use at least ${MIN_LENGTH} characters${HOW}`
  if (new Set(secret).size < 3) return `too easily guessed: use more different characters${HOW}`
  if (id !== undefined && sameId(secret) === sameId(id)) return `too easily guessed: it is the id of the device${HOW}`
  if (isSequence(secret)) return `too easily guessed: its characters follow each other${HOW}`
  return COMMON.has(secret.toLowerCase()) ? `too easily guessed: it is a common password${HOW}` : undefined
}

/** `12345678`, `abcdefgh`, `87654321`. */
function isSequence(secret: string): boolean {
  const steps = new Set<number>()
  for (let at = 1; at < secret.length; at++) steps.add(secret.charCodeAt(at) - secret.charCodeAt(at - 1))
  return steps.size === 1
}

const MIN_LENGTH = 8
const HOW = '; make one with: openssl rand -hex 16'
const COMMON = new Set('password passw0rd password1 password123 1234567890 qwertyuiop changeme letmein1'.split(' '))
