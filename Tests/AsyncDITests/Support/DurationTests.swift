import Testing

@testable import AsyncDI

/// Durations in messages.
@Suite(.timeLimit(.minutes(10))) struct DurationTests {
    @Test(arguments: [
        (Duration.zero, "0 s"), (.seconds(2), "2 s"), (.milliseconds(2310), "2.31 s"), (.seconds(3600), "3600 s"),
        (.microseconds(52_340), "52.3 ms"), (.milliseconds(100), "100 ms"), (.nanoseconds(840_300), "840 µs"),
        (.nanoseconds(5), "5 ns"), (.nanoseconds(1) / 2, "0 s"), (.milliseconds(-1500), "-1.5 s"),
        (.microseconds(999_600), "1 s"), (.microseconds(999_400), "999 ms"), (.nanoseconds(-999_700), "-1 ms"),
    ])
    func `a duration is written with three digits and a unit`(_ duration: Duration, _ text: String) {
        #expect(duration.readable == text)
    }
}
