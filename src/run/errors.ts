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
