import { testModel } from './model.ts'

testModel(2000)
