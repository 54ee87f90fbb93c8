import { testMovingList } from './pages.ts'

testMovingList(2000)
