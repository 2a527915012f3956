import AsyncDI

/// Starting a program whose services take their time.
func registerStart() {
    compare("start", operations: 1, rounds: 10) {
        Comparison { _ in
            let container = Container {
                for layer in 0..<5 {
                    for place in 0..<20 {
                        Registration(SomeService.self, qualifier: Slot(index: layer * 20 + place), lifetime: .singleton)
                        { r in
                            if layer > 0 {
                                for other in [place, (place + 1) % 20] {
                                    _ = try await r.resolve(
                                        SomeService.self, qualifier: Slot(index: (layer - 1) * 20 + other))
                                }
                            }
                            try await Task.sleep(for: .milliseconds(10))
                            return SomeService()
                        }
                        .eager()
                    }
                }
            }
            let duration = try await time { try await container.start() }
            try await container.dispose()
            return duration
        } baseline: { _ in
            try await time { for _ in 0..<5 { try await Task.sleep(for: .milliseconds(10)) } }
        }
    }
}
