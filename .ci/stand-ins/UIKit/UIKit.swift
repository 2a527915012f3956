// What AsyncDI uses of UIKit, with UIKit's signatures and without its behaviour: enough to type-check against where UIKit does not
// exist. UIKit brings the Objective-C runtime's functions along.

@MainActor open class UIViewController {
    public init() {}
    open var parent: UIViewController? { nil }
    open var presentingViewController: UIViewController? { nil }
    open func viewDidLoad() {}
}

public enum objc_AssociationPolicy: UInt, Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
    case OBJC_ASSOCIATION_RETAIN = 769
}
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? { nil }
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {}
