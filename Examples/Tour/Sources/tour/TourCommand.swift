import Foundation
import TourKit

@main
struct TourCommand {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.contains("--help") {
            print(Settings.usage)
            return
        }
        do {
            let summary = try await Tour(Settings(arguments: arguments)).run()
            for problem in summary.problems { complain(problem) }
            print(summary.graph ?? summary.text)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ problem: String) {
        FileHandle.standardError.write(Data("tour: \(problem)\n".utf8))
    }
}
