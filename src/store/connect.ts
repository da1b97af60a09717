import type { Logger } from '../observe/log.ts'
import type { RedisServer } from '../redis/connection.ts'
import { checkFormat } from './format.ts'
import { settleShardCount } from './shard-count.ts'
import { Store } from './shards.ts'

/** Opens the store. At each connect it is verified that this process can work on the data there (`Store.unusable`). */
export function connect(server: RedisServer, name: string, logger?: Logger): Store {
  const store = new Store(server, name, logger)
  store.on('ready', () => {
    void checkFormat(store).catch(() => {})
    void settleShardCount(store)
  })
  return store
}
