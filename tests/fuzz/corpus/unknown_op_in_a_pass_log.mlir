// -----// IR Dump Before X //----- //
module s{""}({
}
