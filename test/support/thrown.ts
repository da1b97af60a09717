/** For what is called with a fault where none may be: the test fails. */
export function thrown(fault: unknown): never {
  throw fault
}
