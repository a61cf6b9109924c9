//! Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura, Kawarabayashi 2017, *Efficient Sublinear-Regret Algorithms for Online
//! Sparse Linear Regression with Limited Observation*.
