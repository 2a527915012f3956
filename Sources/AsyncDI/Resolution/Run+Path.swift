/// The runs around a run, as the path of an error.
extension Run {
    var step: PathStep { PathStep(key: binding.key, binding: binding, pack: pack) }

    /// The outermost run of the chain.
    var root: Run {
        var run = self
        while let parent = run.parent { run = run.beginsBlock ? run.withOuterRuns { $0.outermost } : parent }
        return run
    }

    /// The steps from the root to this run.
    var path: [PathStep] {
        var path: [PathStep] = []
        var run: Run? = self
        while let current = run {
            path.append(current.step)
            run = current.parent
        }
        return path.reversed()
    }

    /// The steps from the beginning of this run's creation to this run.
    var pathInCreation: [PathStep] {
        var path = [step]
        var run = self
        while let parent = run.parent, parent.activity === activity {
            path.append(parent.step)
            run = parent
        }
        return path.reversed()
    }
}
