import { ALL_VERSIONS, testUpgrades } from './store-upgrade.ts'

testUpgrades(ALL_VERSIONS)
