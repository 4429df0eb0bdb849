import type { OperationName, StoreOperations } from "../../store/operations";
import type { AnswerOf, InputOf } from "../../store/operations/operation";
import type { Memory } from "./state";

/** An operation as a function of the rows and the checked input; `isWithin`: it joins a user's transaction. */
export type Implementation<Name extends OperationName> = (
  memory: Memory,
  input: InputOf<StoreOperations[Name]>,
  isWithin: boolean,
) => AnswerOf<StoreOperations[Name]>;
