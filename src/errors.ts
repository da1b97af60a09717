/** An error that the user can correct: the message is one sentence that says what to change; exit code 1. */
export class UserError extends Error {
  override name = 'UserError'
}

/** The exit code of a process whose configuration has mistakes, as in sysexits.h. */
export const EX_CONFIG = 78

/** Turns the error of a port that cannot be opened, or of a file that cannot be used, into a UserError; returns others as is. */
export function explainError(error: unknown): unknown {
  const {
    code = '',
    syscall,
    path,
    ...address
  } = error as NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number }
  if (syscall === 'listen' || syscall === 'bind') {
    const place = address.port === undefined ? address.address : `${address.address}:${address.port}`
    return new UserError(`Cannot listen on ${place}: ${LISTEN_REASONS.get(code) ?? code}.`)
  }
  if (syscall === 'getaddrinfo')
    return new UserError(`Cannot listen on ${address.hostname}: its address cannot be found.`)
  const reason = FILE_REASONS.get(code)
  return reason ? new UserError(`Cannot use ${path ?? 'the data folder'}: ${reason}.`) : error
}

/**
 * Returns what is wrong with an SQLite database and what to do (`otherwise`, if that is not known); undefined for other
 * errors.
 */
export function databaseReason(error: unknown, otherwise: string): string | undefined {
  const { code, errcode = 0, message } = error as NodeJS.ErrnoException & { errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return undefined
  return `${message}; ${DATABASE_ADVICE.get(errcode & PRIMARY_CODE) ?? otherwise}`
}

const LISTEN_REASONS = new Map([
  ['EADDRINUSE', 'another program has this port; end it or choose another port'],
  ['EACCES', 'this user may not use that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
])

const NOT_OWNER = 'this user has no permission; run as its owner, or choose another data_dir'
const FILE_REASONS = new Map([
  ['EACCES', NOT_OWNER],
  ['EPERM', NOT_OWNER],
  ['EROFS', 'the file system is read-only; choose another data_dir'],
  ['EEXIST', 'it is a file; choose another data_dir'],
  ['ENOTDIR', 'a part of its path is no folder; choose another data_dir'],
  ['ENOSPC', 'the disk is full; make room on it'],
  ['EDQUOT', 'the disk quota is used up; make room on it'],
])

const PRIMARY_CODE = 0xff
const NO_PERMISSION = 'give this user the permission, or choose another data_dir'
/** By SQLite's result code: BUSY, READONLY, IOERR, FULL, CANTOPEN. */
const DATABASE_ADVICE = new Map([
  [5, 'end the program that uses it'],
  [8, NO_PERMISSION],
  [10, 'make room on the disk, or repair it'],
  [13, 'make room on the disk'],
  [14, NO_PERMISSION],
])
