import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import product from '../package.json' with { type: 'json' }

/** A package has the commit that it was built from in its package.json; a clone has it in its .git folder. */
const { version, commit = commitOfClone() }: { readonly version: string; readonly commit?: string } = product

/** The full id of the commit of this program; undefined if only the version is known. */
export const COMMIT = commit

/** The version of this program, with the commit if known: `0.2.0-dev+1a2b3c4d5e6f`. */
export const VERSION = commit === undefined ? version : `${version}+${commit.slice(0, 12)}`

/** Reads files: git itself may be missing, and refuses a clone of another user. */
function commitOfClone(): string | undefined {
  const root = fileURLToPath(new URL('../', import.meta.url))
  try {
    const git = gitFolder(root)
    const head = read(join(git, 'HEAD'))
    if (!head.startsWith('ref: ')) return head
    const ref = head.slice('ref: '.length)
    const shared = existsSync(join(git, 'commondir')) ? resolve(git, read(join(git, 'commondir'))) : git
    const loose = join(shared, ref)
    if (existsSync(loose)) return read(loose)
    return new RegExp(`^([\\da-f]+) ${RegExp.escape(ref)}$`, 'm').exec(read(join(shared, 'packed-refs')))?.[1]
  } catch {
    return undefined
  }
}

/** In a worktree `.git` is a file that names the folder. */
function gitFolder(root: string): string {
  const git = join(root, '.git')
  return existsSync(join(git, 'HEAD')) ? git : resolve(root, read(git).replace('gitdir: ', ''))
}

function read(file: string): string {
  return readFileSync(file, 'utf8').trim()
}
