/// A number of things, as messages show it: `1 scope`, `2 scopes`.
func counted(_ number: Int, _ word: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? word : plural ?? word + "s")"
}
