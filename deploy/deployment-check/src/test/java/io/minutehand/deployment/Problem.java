package io.minutehand.deployment;

/**
 * What is wrong with a file that deploys the product.
 *
 * @param file as in the folder {@code deploy}
 * @param where in it: a path of keys, an instruction, a section
 * @param what is wrong, and what would be right
 */
record Problem(String file, String where, String what) {
    @Override
    public String toString() {
        return "deploy/" + file + ": " + where + ": " + what;
    }
}
