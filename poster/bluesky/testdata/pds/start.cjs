// Starts a PDS and the directory of IDs that it needs, both on loopback, and says
// "ready" when they take requests. PORT, PLC_PORT and DATA say where.
'use strict'

const net = require('node:net')

// Neither server takes the address to listen at, so it is put in below them.
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (where, ...rest) {
  if (typeof where === 'number' || typeof where === 'string') {
    where = { port: Number(where), host: '127.0.0.1' }
    if (typeof rest[0] === 'string') rest.shift()
  } else if (where && typeof where === 'object' && where.port != null) {
    where = { ...where, host: '127.0.0.1' }
  }
  return listen.call(this, where, ...rest)
}

const { randomBytes } = require('node:crypto')
const { join } = require('node:path')
const { PDS, envToCfg, envToSecrets } = require('@atproto/pds')
const { Secp256k1Keypair } = require('@atproto/crypto')
const { Database, PlcServer } = require('@did-plc/server')

async function main() {
  const port = Number(process.env.PORT)
  const plcPort = Number(process.env.PLC_PORT)
  const data = process.env.DATA

  const plc = PlcServer.create({ db: Database.mock(), port: plcPort })
  await plc.start()

  const rotation = await Secp256k1Keypair.create({ exportable: true })
  const recovery = await Secp256k1Keypair.create()
  const env = {
    devMode: true,
    port,
    hostname: 'localhost',
    dataDirectory: data,
    blobstoreDiskLocation: join(data, 'blobs'),
    recoveryDidKey: recovery.did(),
    plcRotationKeyK256PrivateKeyHex: Buffer.from(await rotation.export()).toString('hex'),
    adminPassword: randomBytes(16).toString('hex'),
    jwtSecret: randomBytes(16).toString('hex'),
    serviceHandleDomains: ['.test'],
    didPlcUrl: `http://localhost:${plcPort}`,
    bskyAppViewUrl: 'https://appview.invalid',
    bskyAppViewDid: 'did:example:invalid',
    modServiceUrl: 'https://moderator.invalid',
    modServiceDid: 'did:example:invalid',
    inviteRequired: false,
    disableSsrfProtection: true,
    rateLimitsEnabled: true,
    crawlers: [],
    logEnabled: false,
  }
  const pds = await PDS.create(envToCfg(env), envToSecrets(env))
  await pds.start()
  console.log('ready')

  // The test closes the standard input, also when it dies.
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
}

main().catch((err) => {
  console.error(err)
  process.exit(1)
})
