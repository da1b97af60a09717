/** Something that the user can put right: the message is one sentence that says what to change; exit code 1. */
export class UserError extends Error {
  override name = 'UserError'
}

/** A listener that cannot be opened, or a file that cannot be used, as a UserError; any other error as it is. */
export function explained(error: unknown): unknown {
  const {
    code = '',
    syscall,
    address,
    hostname,
    port,
    path,
  } = error as NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number }
  if (syscall === 'listen' || syscall === 'bind') {
    const place = port === undefined ? address : `${address}:${port}`
    return new UserError(`Cannot listen on ${place}: ${LISTEN_REASONS.get(code) ?? code}.`)
  }
  if (syscall === 'getaddrinfo') return new UserError(`Cannot listen on ${hostname}: its address cannot be found.`)
  const reason = FILE_REASONS.get(code)
  return reason ? new UserError(`Cannot use ${path ?? 'the data folder'}: ${reason}.`) : error
}

/** What is wrong with an SQLite database, and what to do, if nothing is known then `otherwise`; undefined for another error. */
export function databaseReason(error: unknown, otherwise: string): string | undefined {
  const { code, errcode = 0, message } = error as NodeJS.ErrnoException & { errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return undefined
  return `${message}; ${DATABASE_ADVICE.get(errcode & PRIMARY_CODE) ?? otherwise}`
}

const LISTEN_REASONS = new Map([
  ['EADDRINUSE', 'another program has this port; end it or choose another port'],
  ['EACCES', 'this user may not have that port; choose one above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
])

const FILE_REASONS = new Map([
  ['EACCES', 'this user has no right to it; run as its owner, or choose another data_dir'],
  ['EPERM', 'this user has no right to it; run as its owner, or choose another data_dir'],
  ['EROFS', 'it cannot be written to; choose another data_dir'],
  ['EEXIST', 'it is a file; choose another data_dir'],
  ['ENOTDIR', 'a part of its path is no folder; choose another data_dir'],
  ['ENOSPC', 'the disk is full; make room on it'],
  ['EDQUOT', 'the disk quota is used up; make room on it'],
])

const PRIMARY_CODE = 0xff
const NO_RIGHT = 'give this user a right to it, or choose another data_dir'
/** By SQLite's result code: BUSY, READONLY, IOERR, FULL, CANTOPEN. */
const DATABASE_ADVICE = new Map([
  [5, 'end what else uses it'],
  [8, NO_RIGHT],
  [10, 'make room on the disk, or repair it'],
  [13, 'make room on the disk'],
  [14, NO_RIGHT],
])
