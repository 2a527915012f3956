/// Finding the registration, or the instance, for a request with arguments.
extension InstanceTable {
    /// Whether instances of the service are found by the hash of arguments of this type.
    func isIndexed(_ service: any Any.Type, _ arguments: ArgumentPack.Type) -> Bool {
        reading {
            withArguments(service, arguments)?.binding._withUnsafeGuaranteedRef { $0.index.load() != nil } == true
        }
    }

    /// Finds the instance, or the factory to call, for a request with arguments, but without qualifier.
    ///
    /// The hash is computed only where instances are found by it, and while the table is read: it must not run user
    /// code. The result is retained before the read ends.
    func find(_ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: () -> Int) -> FoundByArguments? {
        if hasObstacles { return nil }
        return reading {
            guard let (binding, _) = withArguments(service, arguments) else { return nil }
            return binding._withUnsafeGuaranteedRef { binding in
                guard let index = binding.index.load() else {
                    return binding.isPlainTransient ? .plainTransient(binding) : nil
                }
                return index._withUnsafeGuaranteedRef {
                    $0.instance(withHash: UInt32(truncatingIfNeeded: hash())).map { .indexed($0) }
                }
            }
        }
    }

    /// Finds a cached instance whose arguments have these types and this hash, and the table of its container.
    func findIndexed(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type, hash: Int
    ) -> (entry: IndexEntry, owner: InstanceTable)? {
        if hasObstacles { return nil }
        return reading {
            guard let (binding, owner) = withArguments(service, arguments),
                let index = binding._withUnsafeGuaranteedRef({ $0.index.load() }),
                let entry = index._withUnsafeGuaranteedRef({ $0.instance(withHash: UInt32(truncatingIfNeeded: hash)) })
            else { return nil }
            return (entry, owner.takeUnretainedValue())
        }
    }

    /// The registration for a request with arguments, inside a read, and the table that holds it.
    private func withArguments(
        _ service: any Any.Type, _ arguments: ArgumentPack.Type
    ) -> (binding: Unmanaged<Binding>, owner: Unmanaged<InstanceTable>)? {
        guard case .notReady(let binding?, let owner)? = search(ArgumentsProbe(service, arguments)),
            !owner._withUnsafeGuaranteedRef({ $0.hasObstacles })
        else { return nil }
        return (binding, owner)
    }
}
