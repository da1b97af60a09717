/* Runs a program that ignores SIGTERM until this process is killed: node tether.ts DIR. */
import { spawnTethered } from '../../../src/process/redis.ts'

const [dir] = process.argv.slice(2)
const stubborn = ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done', `${dir}/stubborn`]
await spawnTethered(stubborn, { env: process.env, log: `${dir}/log` }).exited
