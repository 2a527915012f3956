/// A table in plain text: the first column to the left, numbers to the right.
struct Table {
    private var rows: [[String]]

    init(titles: [String]) { rows = [titles] }

    mutating func add(_ row: [String]) { rows.append(row) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            .joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }
}
