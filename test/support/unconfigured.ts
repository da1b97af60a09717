/** No device has a secret. */
export const NO_SECRETS = { of: async () => [] }
/** No mapping is configured. */
export const NO_MAPPINGS = { read: () => undefined }
