/// The order in which groups of containers end, of which members of one may use members of another.
///
/// A pure value.
struct FallbackOrder<Member: Hashable> {
    private var groups: [Member: Int] = [:]
    /// The groups with members that use members of each group.
    private var users: [Set<Int>] = []

    /// Notes a member of a group; groups come in their order.
    mutating func note(_ member: Member, in group: Int) {
        groups[member] = group
        if group == users.count { users.append([]) }
    }

    /// Notes that a member uses another container.
    ///
    /// - Returns: Whether that is a member, too.
    mutating func noteUse(of source: Member, by member: Member) -> Bool {
        guard let group = groups[source], let user = groups[member] else { return false }
        if user != group { users[group].insert(user) }
        return true
    }

    /// The groups, each after its users; otherwise, and in a cycle of users, in their order.
    var usersFirst: [Int] {
        var ordered: [Int] = []
        var isSeen = Array(repeating: false, count: users.count)
        for first in users.indices where !isSeen[first] {
            isSeen[first] = true
            // A list, because users may have users in turn, very many times.
            var path = [(group: first, users: users[first].sorted()[...])]
            while let top = path.indices.last {
                if let user = path[top].users.popFirst() {
                    if isSeen[user] { continue }
                    isSeen[user] = true
                    path.append((user, users[user].sorted()[...]))
                } else {
                    ordered.append(path.removeLast().group)
                }
            }
        }
        return ordered
    }
}
