/* Runs before each file of tests that shares its process with others. */
import { observations } from '../../src/observe/observations.ts'

// What the files before have observed is over.
observations.current(Infinity)
