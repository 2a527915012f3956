import GRDB

extension NotesError.Reason {
    /// The reason behind an error about a database's file; nil for other errors.
    init?(_ error: any Error) {
        guard let error = error as? DatabaseError else { return nil }
        // The index that the connections share is a file too.
        if error.extendedResultCode == .SQLITE_IOERR_SHMSIZE {
            self = .full
            return
        }
        switch error.resultCode {
        case .SQLITE_CANTOPEN: self = .unopenable
        case .SQLITE_BUSY: self = .busy
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .notADatabase
        case .SQLITE_READONLY: self = .readOnly
        case .SQLITE_FULL: self = .full
        default: return nil
        }
    }
}
